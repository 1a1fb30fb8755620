// SPDX-License-Identifier: Apache-2.0

package scheduler

import "strings"

// maxDistance is the largest distance at which a seed is used (SCHED-DIST-5).
const maxDistance = 1000

const otherProviderDistance = 2

// Place is where a control plane runs or is wanted.
type Place struct {
	// Region is the provider's name of the region.
	Region string
	// Provider is the provider type.
	Provider string
}

// Distance estimates the distance of two places from their names: twice the edit distance of the region names without their
// orientation, plus up to 2 for different orientations and 2 for different providers (SCHED-DIST-1 to SCHED-DIST-3).
func Distance(a, b Place) int {
	base, orientation := splitOrientation(a.Region)
	otherBase, otherOrientation := splitOrientation(b.Region)
	sum := 2*levenshtein(base, otherBase) + orientationDistance(orientation, otherOrientation)
	if a.Provider != b.Provider {
		sum += otherProviderDistance
	}
	return sum
}

func orientationDistance(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "" || b == "":
		return 1
	default:
		return 2
	}
}

// splitOrientation replaces the first word of the list that occurs in the region by a colon.
func splitOrientation(region string) (base, orientation string) {
	for _, word := range []string{"north", "south", "east", "west", "central"} {
		if strings.Contains(region, word) {
			return strings.Replace(region, word, ":", 1), word
		}
	}
	return region, ""
}

// levenshtein counts the insertions, deletions and substitutions of characters that turn a into b.
func levenshtein(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			substitution := diagonal
			if r != s {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
