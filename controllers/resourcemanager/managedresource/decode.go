// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// decompressedLimit bounds what one compressed key may become: a small Secret must not fill the memory.
const decompressedLimit = 64 << 20

// Bundle is what the Secrets of a ManagedResource hold.
type Bundle struct {
	// Objects are in the order of Secrets, keys and documents.
	Objects []*unstructured.Unstructured
	// Broken names documents that are not objects. The names never quote what the documents hold, which may be confidential.
	Broken []string
	// Checksum is that of all data.
	Checksum string
}

// Decode reads the manifests of Secrets. Documents that are empty are left out (GRM-MR-2).
func Decode(secrets ...*corev1.Secret) Bundle {
	var bundle Bundle
	sum := sha256.New()
	for _, secret := range secrets {
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			// Lengths keep the parts apart, so that moving data from one key to another is a change.
			_, _ = fmt.Fprintf(sum, "%s/%s:%d\n", secret.Name, key, len(secret.Data[key]))
			_, _ = sum.Write(secret.Data[key])
			bundle.add(fmt.Sprintf("Secret %q, key %q", secret.Name, key), key, secret.Data[key])
		}
	}
	bundle.Checksum = hex.EncodeToString(sum.Sum(nil))
	return bundle
}

func (b *Bundle) add(place, key string, data []byte) {
	if strings.HasSuffix(key, gardenresourcesv1alpha1.CompressedSuffix) {
		var err error
		if data, err = decompress(data); err != nil {
			b.Broken = append(b.Broken, fmt.Sprintf("%s: %v", place, err))
			return
		}
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.Broken = append(b.Broken, fmt.Sprintf("%s, document %d: cannot be read", place, number))
			return
		}
		for i, one := range split(document) {
			if i > 0 {
				number++
			}
			object, ok := decodeObject(one)
			switch {
			case !ok:
				b.Broken = append(b.Broken, fmt.Sprintf("%s, document %d: not an object with apiVersion, kind and name in YAML or JSON", place, number))
			case object != nil:
				b.Objects = append(b.Objects, object)
			}
		}
	}
}

// split separates documents in JSON that follow each other without the separator of YAML. What is not JSON stays together.
func split(document []byte) [][]byte {
	rest := bytes.TrimSpace(document)
	if !bytes.HasPrefix(rest, []byte("{")) {
		return [][]byte{document}
	}
	var all [][]byte
	for len(rest) > 0 {
		var one json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(rest))
		if decoder.Decode(&one) != nil {
			return append(all, rest)
		}
		all, rest = append(all, one), bytes.TrimSpace(rest[decoder.InputOffset():])
	}
	return all
}

// decodeObject returns nil for a document without content, and false for one that is not an object.
func decodeObject(document []byte) (*unstructured.Unstructured, bool) {
	converted, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, false
	}
	if text := string(bytes.TrimSpace(converted)); text == "null" || text == "{}" {
		return nil, true
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(converted); err != nil || object.GetName() == "" || object.GetAPIVersion() == "" {
		return nil, false
	}
	return object, true
}

func decompress(data []byte) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(data)), decompressedLimit+1))
	if err != nil {
		return nil, errors.New("not compressed with Brotli")
	}
	if len(plain) > decompressedLimit {
		return nil, fmt.Errorf("larger than %d MiB when it is decompressed", decompressedLimit>>20)
	}
	return plain, nil
}

// sortForApply puts the objects into the usual order of installation, unknown kinds last (GRM-APPLY-4).
func sortForApply(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(
			cmp.Compare(position(a.GetKind()), position(b.GetKind())), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()),
		)
	})
}

func position(kind string) int {
	order := [...]string{
		"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret",
		"ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding",
		"Role", "RoleBinding", "Service", "DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler",
		"StatefulSet", "Job", "CronJob", "Ingress", "APIService",
	}
	if index := slices.Index(order[:], kind); index >= 0 {
		return index
	}
	return len(order)
}

// definedScopes returns the kinds that the objects define themselves, and whether these are namespaced.
func definedScopes(objects []*unstructured.Unstructured) map[schema.GroupKind]bool {
	scopes := map[schema.GroupKind]bool{}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
		scopes[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
	}
	return scopes
}
