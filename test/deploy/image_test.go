package deploy

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// engine skips the test where no Docker engine answers, or there is nothing to give
// it orders with.
func engine(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"docker", "version"}, {"docker-compose", "version"}, {"busybox", "true"}} {
		if _, err := run(t.Context(), limit, nil, args...); err != nil {
			t.Skipf("no containers here: %v", err)
		}
	}
}

// buildArgs are those of the Dockerfile.
const buildArgs = "build -ldflags=-s -o /out/fencelock ./cmd/fencelock"

// builder stands in for the image with Go in it, which is nowhere to be had without
// a registry: a shell, and a "go" that hands out the program which the real one has
// made outside, with the same arguments and from the same sources.
const builder = `#!/bin/sh
set -eu
case "$*" in
"mod download")
	test -s go.mod && test -s go.sum ;;
"` + buildArgs + `")
	test "$CGO_ENABLED" = 0
	while read -r package; do
		ls "$package"/*.go >/dev/null || { echo "no sources of $package"; exit 1; }
	done </built/packages
	if test -e test || ls */*_test.go 2>/dev/null; then echo "more than the sources"; exit 1; fi
	mkdir /out
	cp /built/fencelock /out/fencelock ;;
*)
	echo "not what the test expects: go $*"
	exit 1 ;;
esac
`

// image builds the Dockerfile and returns the image's name.
func image(t *testing.T) string {
	t.Helper()
	suffix := fmt.Sprintf("test-%d", os.Getpid())
	base, name := "fencelock-builder:"+suffix, "fencelock:"+suffix
	// The label is inherited by all that is built from it, and finds it again.
	label := "fencelock.builder=" + suffix
	if _, err := run(t.Context(), limit, builderFiles(t), "docker", "import", "--change=LABEL "+label, "-", base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cleanUp(t, "sh", "-c", `docker rmi --force $(docker images --all --quiet --filter=label="$0")`, label)
	})
	if _, err := run(t.Context(), buildLimit, nil, "docker", "build", "--force-rm", "--build-arg", "BUILD_IMAGE="+base, "--tag", name, top); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cleanUp(t, "docker", "rmi", "--force", name) })
	return name
}

// builderFiles is a tar file of the builder's image.
func builderFiles(t *testing.T) []byte {
	t.Helper()
	shell, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	program, packages := compile(t)
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	add := func(header tar.Header, content []byte) {
		header.Size, header.Mode = int64(len(content)), 0o755
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Name: "bin/busybox"}, readAt(t, shell))
	for _, applet := range []string{"sh", "ls", "mkdir", "cp", "test"} {
		add(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox"}, nil)
	}
	add(tar.Header{Name: "usr/local/bin/go"}, []byte(builder))
	add(tar.Header{Name: "built/fencelock"}, readAt(t, program))
	add(tar.Header{Name: "built/packages"}, []byte(packages))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return files.Bytes()
}

// compile makes the program as the Dockerfile does, and lists the folders that it
// is made from.
func compile(t *testing.T) (program, packages string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "fencelock")
	args := strings.Fields(strings.Replace(buildArgs, "/out/fencelock", program, 1))
	args = append([]string{"env", "CGO_ENABLED=0", "go", args[0], "-C", top}, args[1:]...)
	if _, err := run(t.Context(), buildLimit, nil, args...); err != nil {
		t.Fatal(err)
	}
	const module = "github.com/fencelock/fencelock/"
	list := mustRun(t, "go", "list", "-C", top, "-deps", "./cmd/fencelock")
	for line := range strings.Lines(list + "\n") {
		if folder, ours := strings.CutPrefix(line, module); ours {
			packages += folder
		}
	}
	return program, packages
}

func readAt(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
