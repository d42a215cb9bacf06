// Package servers gives tests the real PostgreSQL, MariaDB and Redis, from
// Debian's packages.
//
//	Postgres, MariaDB, Redis    a URL or DSN of a fresh database. All tests of a
//	                            process share one server of each kind; it starts
//	                            with the first test that asks.
//	StartPostgres, …            a server of the test's own, as durable as in
//	                            production, that it may kill and start again.
//
// A test whose server is not installed is skipped, with the package to install.
//
// # Nothing is left behind
//
// A test package that shares servers has a TestMain that calls [Main], which
// stops them and removes their folders. Should the test process die before that,
// the kernel ends the servers (PR_SET_PDEATHSIG), and the next run of any test
// package removes the folders, which are named after the dead process.
//
// Servers listen on a loopback port, and run as "nobody" if the tests run as
// root, because PostgreSQL and MariaDB refuse root. Only Linux has all that; on
// other systems every test that asks for a server is skipped.
package servers
