// Package config reads the settings of fencelock: from flags, from the
// environment, from a YAML file, and from defaults, in this order; the first that
// has a setting decides. It is the only package that knows viper.
//
// A setting has one key, and its other names follow from it:
//
//	key          client.dial-timeout
//	flag         --dial-timeout, where there is one: a password has none
//	environment  FENCELOCK_CLIENT_DIAL_TIMEOUT
//	file         client:
//	               dial-timeout: 5s
//
// An empty environment variable counts as not set. An unknown key in a file is an
// error, since it is a typing mistake; an unknown variable is not, since Kubernetes
// sets FENCELOCK_PORT for a service of that name: [UnknownVariables] can warn of it.
//
// FENCELOCK_LOCK, FENCELOCK_TOKEN and FENCELOCK_SEQUENCER are what "fencelock
// lock" tells its command. No setting has these names.
package config
