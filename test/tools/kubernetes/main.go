// Command kubernetes reads manifests as Kubernetes' API server does with strict
// field validation: a field that its types do not have, or have twice, is an error. It
// prints one line for each object: its kind and name.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
)

func main() {
	if err := read(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

// read decodes the documents of a YAML stream.
func read(in io.Reader, out io.Writer) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yamlutil.NewYAMLReader(bufio.NewReader(in))
	for {
		document, err := documents.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(bytes.TrimSpace(document)) == 0:
			continue
		}
		object, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return err
		}
		named, ok := object.(interface{ GetName() string })
		if !ok {
			return fmt.Errorf("%s has no name", kind.Kind)
		}
		fmt.Fprintln(out, kind.Kind, named.GetName())
	}
}
