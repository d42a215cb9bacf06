// Package upkeep does by hand what members do by schedule, and what nobody should
// do without being asked: it defragments members one by one, the leader last, and
// clears the alarm of a full store. It asks members as any client would.
package upkeep
