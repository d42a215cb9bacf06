// Package restore shows with real members, clients and a database that a restored
// cluster issues no token twice, and that nobody from before the restore gets
// through.
package restore
