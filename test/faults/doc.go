// Package faults does to a cluster of real processes what happens to one: members
// are killed, stopped, cut off, filled up and wiped, while locks are held and used.
// Each fault states beforehand for how long it may leave everybody without
// service, and the time that it took is logged:
//
//	go test -v -run TestFaults ./test/faults
//
// Hosts, disks and processes are those of package world. The faults of the network
// and of full disks need root. Unlike the runs of test/chaos, these have one
// fault each, at a known moment, and look at the very next thing that the program
// says and does. All of it needs Linux.
package faults
