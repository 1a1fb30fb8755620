// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// differences lists the paths of the fields in which two values, as clients see them, differ.
func differences(a, b any) []string {
	var paths []string
	compare("", plain(a), plain(b), &paths)
	return paths
}

// plain returns a value as decoded from JSON; a value that cannot be encoded has no parts to compare.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil
	}
	return out
}

func compare(path string, a, b any, paths *[]string) {
	if reflect.DeepEqual(a, b) {
		return
	}
	mapA, isMapA := a.(map[string]any)
	mapB, isMapB := b.(map[string]any)
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	switch {
	case isMapA && isMapB:
		keys := maps.Clone(mapA)
		maps.Copy(keys, mapB)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			compare(join(path, key), mapA[key], mapB[key], paths)
		}
	case isListA && isListB && len(listA) == len(listB):
		for i := range listA {
			compare(path+"["+strconv.Itoa(i)+"]", listA[i], listB[i], paths)
		}
	default:
		*paths = append(*paths, path)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
