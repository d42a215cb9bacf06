// Package traffic is what one client process of the chaos run does: it takes locks, reads and writes behind them, and
// writes down everything that it calls and what came of it.
package traffic
