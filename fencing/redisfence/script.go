package redisfence

import "strings"

// script is what every operation runs. The fence's value is "TOKEN VERSION"; the
// version changes whenever requests under the old one must not land any more.
//
//	KEYS  the fence, then the operation's own
//	ARGV  token, the version that the handle knows or "", a fresh version,
//	      "ask" or "raise", the operation, its arguments
//
// It answers a list, whose first word is the verdict:
//
//	ok VERSION [RESULT]   admitted and done
//	moved VERSION         not done: the handle's version is not the fence's
//	ask                   not done: the token would raise the fence, verify it first
//	stale TOKEN           refused: the fence stands higher
//	lost TOKEN            refused: the fence stands below what this handle claimed
//	broken VALUE          refused: that is no fence
//	error TEXT            what Redis said; nothing of the operation was done, or,
//	                      of a user's script, what it had done before
//
// Errors are caught and answered so that nothing needs to know how a client
// library tells an error of the server from one of the network.
const script = `
local fence, token, known, fresh, may, op = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- Tokens are decimal text: numbers lose digits beyond 2^53. The operator < asks
-- the server's locale, so bytes are compared one by one.
local function higher(a, b)
	if #a ~= #b then return #a > #b end
	for i = 1, #a do
		if a:byte(i) ~= b:byte(i) then return a:byte(i) > b:byte(i) end
	end
	return false
end

local function failed(answer)
	return type(answer) == 'table' and answer.err
end

local function stand(version)
	return failed(redis.pcall('SET', fence, token .. ' ' .. version))
end

local value = redis.pcall('GET', fence)
if failed(value) then return {'error', value.err} end
local stands, version = '0', ''
if value then
	stands, version = string.match(value, '^([1-9]%d*) (%x+)$')
	if not stands then return {'broken', value} end
end

local reads = op == 'get' or op == 'advance'
if higher(stands, token) then return {'stale', stands} end

-- Nothing is read where nothing could be written: a replica has an old fence, and
-- old data. Since the fence is there this SET changes nothing. It is also one that a
-- full Redis refuses, or Redis would let all later writes of the script pass. What
-- writes in any case needs none.
if value and op ~= 'set' and op ~= 'delete' then
	local written = redis.pcall('SET', fence, value, 'NX')
	if failed(written) and string.find(written.err, 'READONLY') then return {'error', written.err} end
end

if stands ~= token then
	if known ~= '' then return {'lost', stands} end
	if may == 'ask' then return {'ask'} end
	local err = stand(fresh)
	if err then return {'error', err} end
	version = fresh
elseif op == 'barrier' then
	if known == version then
		local err = stand(fresh)
		if err then return {'error', err} end
		version = fresh
	end
elseif known ~= version and not reads then
	return {'moved', version}
end

local function expiring(key, text, ttl)
	if ttl == '0' then return redis.pcall('SET', key, text) end
	return redis.pcall('SET', key, text, 'PX', ttl)
end

local function cas(key, existed, old, exists, new, ttl)
	local now = redis.pcall('GET', key)
	if failed(now) then return now end
	if now and existed == '0' or not now and existed == '1' or now and now ~= old then return 0 end
	local answer
	if exists == '0' then answer = redis.pcall('DEL', key) else answer = expiring(key, new, ttl) end
	if failed(answer) then return answer end
	return 1
end

--USER--

local result
if op == 'get' then
	result = redis.pcall('GET', KEYS[2])
elseif op == 'set' then
	result = expiring(KEYS[2], ARGV[6], ARGV[7])
elseif op == 'delete' then
	result = redis.pcall('DEL', KEYS[2])
elseif op == 'cas' then
	result = cas(KEYS[2], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
elseif op == 'run' then
	local fine
	fine, result = pcall(user, {unpack(KEYS, 2)}, {unpack(ARGV, 6)})
	if not fine then return {'error', failed(result) or tostring(result)} end
end
if failed(result) then return {'error', result.err} end
return {'ok', version, result}
`

// withUser puts the user's script in its place, as a function that has the global
// names for its parameters.
func withUser(text string) string {
	return strings.Replace(script, "--USER--", "local function user(KEYS, ARGV)\n"+text+"\nend", 1)
}

// lowerScript repairs a fence: from ARGV[1] to ARGV[2], under version ARGV[3].
const lowerScript = `
local value = redis.call('GET', KEYS[1])
local stands = value and string.match(value, '^([1-9]%d*) %x+$')
if stands ~= ARGV[1] then return {'stands', stands or ''} end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[3])
return {'ok'}
`

// highestScript reads a fence.
const highestScript = `
local value = redis.call('GET', KEYS[1])
if not value then return {'none'} end
local stands = string.match(value, '^([1-9]%d*) %x+$')
if not stands then return {'broken', value} end
return {'stands', stands}
`
