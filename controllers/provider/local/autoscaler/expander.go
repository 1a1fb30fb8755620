// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// priorities are regular expressions of names of machine deployments, by how much these are preferred.
type priorities map[int][]*regexp.Regexp

// keyPriorities is the key of the ConfigMap that says which groups are preferred.
const keyPriorities = "priorities"

// parsePriorities reads what the ConfigMap of the expander priority holds.
func parsePriorities(text string) (priorities, error) {
	raw := map[int][]string{}
	if err := yaml.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("read %s: %w", keyPriorities, err)
	}
	parsed := priorities{}
	for priority, expressions := range raw {
		for _, expression := range expressions {
			compiled, err := regexp.Compile(expression)
			if err != nil {
				return nil, fmt.Errorf("read %s of %d: %w", keyPriorities, priority, err)
			}
			parsed[priority] = append(parsed[priority], compiled)
		}
	}
	return parsed, nil
}

// of is the highest priority whose expressions match a name; the lowest of all if none does.
func (p priorities) of(name string) (priority int, named bool) {
	for _, candidate := range slices.Backward(slices.Sorted(maps.Keys(p))) {
		if slices.ContainsFunc(p[candidate], func(e *regexp.Regexp) bool { return e.MatchString(name) }) {
			return candidate, true
		}
	}
	return 0, false
}

// chooser chooses among options.
type chooser struct {
	expanders  []string
	priorities priorities
	random     func(n int) int
}

// choose applies the expanders one after the other. What is left equal after that goes to the group with the fewest machines.
func (c chooser) choose(options []*option) *option {
	if len(options) == 0 {
		return nil
	}
	for _, name := range c.expanders {
		switch name {
		case LeastWaste:
			options = leastBy(options, waste)
		case MostPods:
			options = leastBy(options, func(o *option) float64 { return -float64(len(o.pods)) })
		case LeastNodes:
			options = leastBy(options, func(o *option) float64 { return float64(len(o.nodes)) })
		case Priority:
			options = c.preferred(options)
		case Random:
			options = []*option{options[c.random(len(options))]}
		}
	}
	return slices.MinFunc(options, func(a, b *option) int {
		return cmp.Or(cmp.Compare(a.group.target(), b.group.target()), cmp.Compare(a.group.Name, b.group.Name))
	})
}

// preferred leaves the options with the highest priority. If none is named, all stay.
func (c chooser) preferred(options []*option) []*option {
	named := slices.DeleteFunc(slices.Clone(options), func(o *option) bool {
		_, is := c.priorities.of(o.group.Name)
		return !is
	})
	if len(named) == 0 {
		return options
	}
	return leastBy(named, func(o *option) float64 {
		priority, _ := c.priorities.of(o.group.Name)
		return -float64(priority)
	})
}

func leastBy(options []*option, value func(*option) float64) []*option {
	best := value(slices.MinFunc(options, func(a, b *option) int { return cmp.Compare(value(a), value(b)) }))
	return slices.DeleteFunc(slices.Clone(options), func(o *option) bool { return value(o) > best })
}

// waste is the share of processors and memory of the fresh nodes that nothing would use.
func waste(o *option) float64 {
	total := 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		have, used := 0.0, 0.0
		for _, one := range o.nodes {
			have += one.node.Status.Allocatable.Name(name, "").AsApproximateFloat64()
			used += one.used.Name(name, "").AsApproximateFloat64()
		}
		if have > 0 {
			total += 1 - used/have
		}
	}
	return total
}
