#!/usr/bin/env bash
# Makes this machine ready for the tests: `make test` runs it first.
# Root on a Debian machine gets what is missing installed; anyone else is told
# what will be done without. In CI (CI=true) doing without is an error.
set -euo pipefail

# command:Debian packages:what the tests want it for
# A command with a slash is a path and may hold wildcards.
needs=(
	"gcc:gcc libc6-dev:the race detector"
	"/usr/lib/postgresql/*/bin/postgres:postgresql:fences in PostgreSQL"
	"/usr/sbin/mariadbd:mariadb-server-core:fences in MariaDB"
	"redis-server:redis-server:fences in Redis"
	"promtool:prometheus:the alert rules"
	"docker:docker.io:containers"
	"docker-compose:docker-compose:containers"
	"busybox:busybox-static:containers"
	"systemd-analyze:systemd:the systemd unit"
	"ip:iproute2:networks that are cut"
	"/usr/sbin/nft:nftables:packets that are lost or reset"
	"/usr/sbin/mkfs.ext4:e2fsprogs:power cuts"
	"/usr/sbin/losetup:mount:power cuts"
	"strace:strace:disks that fail or lie"
)

present() {
	case $1 in
	*/*) compgen -G "$1" >/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

packages=()
for need in "${needs[@]}"; do
	IFS=: read -r command debian _ <<<"$need"
	# Split on purpose: one command may need several packages.
	# shellcheck disable=SC2206
	present "$command" || packages+=($debian)
done

if ((${#packages[@]})) && [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
	echo "setup: installing ${packages[*]}"
	export DEBIAN_FRONTEND=noninteractive
	if ! { apt-get -qq update && apt-get -qq install --no-install-recommends "${packages[@]}"; } >&2; then
		echo "setup: apt-get failed" >&2
	fi
fi

missing=0
for need in "${needs[@]}"; do
	IFS=: read -r command debian use <<<"$need"
	if ! present "$command"; then
		echo "setup: no $command: the tests go without $use (Debian: apt-get install $debian)" >&2
		missing=1
	fi
done
# Without systemd nobody starts the engine. It stays for the next run.
if [[ $(id -u) == 0 ]] && command -v dockerd >/dev/null && ! docker version >/dev/null 2>&1; then
	echo "setup: starting dockerd"
	setsid dockerd </dev/null >/var/log/dockerd.log 2>&1 &
	timeout 30 sh -c 'until docker version; do sleep 1; done' >/dev/null 2>&1 ||
		echo "setup: dockerd does not answer, see /var/log/dockerd.log: the tests go without containers" >&2
fi
[[ ${CI:-} != true || $missing == 0 ]]
