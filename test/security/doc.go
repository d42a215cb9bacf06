// Package security holds the tests of TLS, users and roles: real members with
// certificates and logins that expire, and files that are replaced under them.
package security
