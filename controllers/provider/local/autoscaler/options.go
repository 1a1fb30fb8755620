// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds are the least and the greatest number of machines of a MachineDeployment.
type Bounds struct {
	// Name of the deployment.
	Name string
	// Minimum and Maximum number of its machines.
	Minimum, Maximum int32
}

// Settings are what a pool may override.
type Settings struct {
	// ScaleDownUnneededTime is how long a node must not be needed until its machine goes.
	ScaleDownUnneededTime time.Duration
	// ScaleDownUnreadyTime is the same for a node that is not ready.
	ScaleDownUnreadyTime time.Duration
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may be unneeded.
	ScaleDownUtilizationThreshold float64
	// ScaleDownGPUUtilizationThreshold takes its place on nodes with graphics processors: there, only these count.
	ScaleDownGPUUtilizationThreshold float64
	// MaxNodeProvisionTime is how long a machine may take to become a node.
	MaxNodeProvisionTime time.Duration
}

// Options are what the spec of a shoot says about its autoscaler.
type Options struct {
	Settings

	// Namespace holds the machines in the seed.
	Namespace string
	// Groups are the machine deployments whose number may change.
	Groups []Bounds
	// Expanders choose among groups, one after the other until a single one is left.
	Expanders []string
	// ScanInterval is the time between two passes.
	ScanInterval time.Duration
	// NewPodScaleUpDelay is how old a pod has to be to bring a machine.
	NewPodScaleUpDelay time.Duration
	// ScaleDownDelayAfterAdd, ScaleDownDelayAfterDelete and ScaleDownDelayAfterFailure are how long no machine goes after one was added, one
	// went, or a removal failed.
	ScaleDownDelayAfterAdd, ScaleDownDelayAfterDelete, ScaleDownDelayAfterFailure time.Duration
	// InitialBackoff and MaxBackoff bound how long a group whose machines do not come is left alone. After BackoffReset without a failure it
	// begins with the former again.
	InitialBackoff, MaxBackoff, BackoffReset time.Duration
	// IgnoreDaemonSets leaves pods of DaemonSets out of the utilization of nodes.
	IgnoreDaemonSets bool
	// MaxScaleDownParallelism is how many nodes go at once, MaxDrainParallelism how many of these may have pods that move.
	MaxScaleDownParallelism, MaxDrainParallelism int
	// MaxGracefulTermination is the number of seconds that the pods of a node that goes have at most to end.
	MaxGracefulTermination int
	// MaxBinpackingTime is how long one pass looks for groups that help once one is found; 0 is without end.
	MaxBinpackingTime time.Duration
	// Verbosity says how much is logged, see the levels of log lines.
	Verbosity int
	// GroupMetrics adds metrics of each group to those of the shoot.
	GroupMetrics bool
	// StartupTaints are on nodes that are not ready for pods yet. StatusTaints come and go and are not looked at.
	StartupTaints, StatusTaints []string
}

// Ways to choose among groups.
const (
	LeastWaste = "least-waste"
	MostPods   = "most-pods"
	LeastNodes = "least-nodes"
	Priority   = "priority"
	Random     = "random"
)

// ParseBounds reads the text <minimum>:<maximum>:<namespace>.<name>.
func ParseBounds(text string) (namespace string, bounds Bounds, err error) {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) != 3 {
		return "", Bounds{}, fmt.Errorf("%q is not of the form <minimum>:<maximum>:<namespace>.<machine deployment>", text)
	}
	least, err := strconv.ParseInt(parts[0], 10, 32)
	if err != nil {
		return "", Bounds{}, fmt.Errorf("%q: minimum %q is not a number", text, parts[0])
	}
	most, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil {
		return "", Bounds{}, fmt.Errorf("%q: maximum %q is not a number", text, parts[1])
	}
	namespace, name, found := strings.Cut(parts[2], ".")
	if !found || namespace == "" || name == "" {
		return "", Bounds{}, fmt.Errorf("%q: %q is not of the form <namespace>.<machine deployment>", text, parts[2])
	}
	if least < 0 || most < least {
		return "", Bounds{}, fmt.Errorf("%q: the minimum must be between 0 and the maximum", text)
	}
	return namespace, Bounds{Name: name, Minimum: int32(least), Maximum: int32(most)}, nil
}

// SetGroups reads the bounds of groups, which all have to be in one namespace.
func (o *Options) SetGroups(texts []string) error {
	for _, text := range texts {
		namespace, bounds, err := ParseBounds(text)
		if err != nil {
			return err
		}
		if o.Namespace == "" {
			o.Namespace = namespace
		}
		if namespace != o.Namespace {
			return fmt.Errorf("%q: all machine deployments have to be in the namespace %q", text, o.Namespace)
		}
		if slices.ContainsFunc(o.Groups, func(b Bounds) bool { return b.Name == bounds.Name }) {
			return fmt.Errorf("%q: the machine deployment is named twice", text)
		}
		o.Groups = append(o.Groups, bounds)
	}
	return nil
}

// Validate returns everything that is wrong.
func (o *Options) Validate() error {
	var errs []error
	if o.Namespace == "" {
		errs = append(errs, errors.New("no namespace of machines is given"))
	}
	if o.ScanInterval <= 0 {
		errs = append(errs, fmt.Errorf("scan interval %s is not positive", o.ScanInterval))
	}
	if o.MaxGracefulTermination < 0 || o.MaxBinpackingTime < 0 || o.Verbosity < 0 {
		errs = append(errs, errors.New("the time for pods to end, the time for simulations and the verbosity must not be negative"))
	}
	known := []string{LeastWaste, MostPods, LeastNodes, Priority, Random}
	for _, name := range o.Expanders {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("expander %q is unknown; there are %s", name, strings.Join(known, ", ")))
		}
	}
	return errors.Join(errs...)
}
