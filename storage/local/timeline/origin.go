// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/binary"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// prefixSeedAccount is the beginning of the names of service accounts in the namespaces of seeds.
const prefixSeedAccount = "system:serviceaccount:seed-"

// origin is where an entry comes from.
type origin struct {
	// writer is the seed whose gardenlet or extension wrote the entry, or else the namespace of the entry.
	writer string
	// namespace is that of the entry.
	namespace string
}

// originOf derives the origin of an entry from the user, whom the server has authenticated.
func originOf(entry *Entry) origin {
	if seed, ok := strings.CutPrefix(entry.User, gardencorev1beta1.UserPrefixSeed); ok {
		return origin{writer: "seed/" + seed, namespace: entry.Namespace}
	}
	if account, ok := strings.CutPrefix(entry.User, prefixSeedAccount); ok {
		seed, _, _ := strings.Cut(account, ":")

		return origin{writer: "seed/" + seed, namespace: entry.Namespace}
	}

	return origin{writer: "namespace/" + entry.Namespace, namespace: entry.Namespace}
}

// key is the name of the bucket of an origin. Names have no zero bytes.
func (o origin) key() []byte { return []byte(o.writer + "\x00" + o.namespace) }

func originFrom(key []byte) origin {
	writer, namespace, _ := strings.Cut(string(key), "\x00")

	return origin{writer: writer, namespace: namespace}
}

// usage is how much of the file the entries of each origin use.
type usage map[origin]int64

// usageOf counts what is in a file.
func usageOf(tx *bolt.Tx) (usage, error) {
	used := usage{}
	err := numbersOf(tx).ForEach(func(number, reference []byte) error {
		if len(reference) < referenceSize {
			return fmt.Errorf("entry %d of the timeline is damaged: it has no origin", binary.BigEndian.Uint64(number))
		}
		used[originFrom(reference[referenceSize:])] += int64(binary.BigEndian.Uint32(reference[numberSize:]))

		return nil
	})

	return used, err
}

// add counts entries that were added, or with sign -1 that were removed.
func (u usage) add(more usage, sign int64) {
	for from, size := range more {
		if u[from] += sign * size; u[from] <= 0 {
			delete(u, from)
		}
	}
}

// largest returns the origin that has to give up entries, less what was removed of it: of the writer that uses most, the
// namespace that uses most. So a gardenlet cannot hide behind many namespaces, and a project cannot push out what a gardenlet
// tells of other projects.
func (u usage) largest(removed usage) (largest origin, size int64) {
	writers := map[string]int64{}
	for from, size := range u {
		writers[from.writer] += size - removed[from]
	}
	for from, used := range u {
		used -= removed[from]
		whole, most := writers[from.writer], writers[largest.writer]
		if whole > most || whole == most && (from.writer < largest.writer || from.writer == largest.writer && used > size) || largest == (origin{}) {
			largest, size = from, used
		}
	}

	return largest, size
}
