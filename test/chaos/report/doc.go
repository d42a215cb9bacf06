// Package report tells people what a run of chaos has shown: a table on the
// terminal, a page with the timeline as a picture, figures for machines.
//
// It judges nothing: the checks have done that. What it works out itself (how long
// service was away, which updates of a counter were lost) is for the picture only.
//
// # The page
//
// One file without anything from elsewhere. From the top:
//
//	verdict        the checks in a word, the figures that matter, the seed
//	overview       all of the run on one time axis: faults, operations a second, clients
//	close-ups      a few seconds around the most telling moments, each of one lock:
//	               who held it with which token, and who was refused
//	tokens         of a few locks; where a restore makes them jump, the axis is broken
//	counters       acknowledged and lost updates, without and with a fence
//	tables         checks, faults and what they may cost, operations, losses
//	minutes        the overview again, a minute a row
//
// Its size does not grow with the number of operations: whatever falls on the same
// pixel of the same lane is drawn once, and of many minutes the most eventful are
// shown.
package report
