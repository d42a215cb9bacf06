package client_test

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fencelock/fencelock/client"
)

// A file that another process is writing: the parts that are whole would be taken,
// and the CA that was being added would be missing.
func TestTLSFilesHalfWritten(t *testing.T) {
	part := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("any")}))
	path := filepath.Join(t.TempDir(), "ca.pem")
	for _, text := range []string{part[:len(part)/2], part + part[:len(part)/2], part[:len(part)/2] + "\n" + part} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := client.TLSFiles{CACert: path}.Check()
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "half written") {
			t.Errorf("%q: got %v, want the file, and that it is half written", text, err)
		}
	}
}
