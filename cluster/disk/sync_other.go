//go:build !unix

package disk

// SyncFolder: folders cannot be synced here.
func SyncFolder(string) error { return nil }
