// Package faults does to a cluster of real processes what happens to one: members
// are killed, stopped, cut off, filled up and wiped, while locks are held and used.
// Each fault states beforehand for how long it may leave everybody without
// service, and the time that it took is logged:
//
//	go test -v -run TestFaults ./test/faults
//
// The faults of the network need root, for network namespaces.
package faults
