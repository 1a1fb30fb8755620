// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// share is the part of a pool that one zone gets.
type share struct {
	zone           string
	minimum        int32
	maximum        int32
	preserved      int32
	maxSurge       intstr.IntOrString
	maxUnavailable intstr.IntOrString
}

// spread divides a pool among its zones; a pool without zones is one share.
func spread(pool *gardenextensionsv1alpha1.WorkerPool) ([]share, error) {
	zones := pool.Zones
	if len(zones) == 0 {
		zones = []string{""}
	}
	count := int32(min(len(zones), math.MaxInt32))
	shares := make([]share, 0, count)
	for i := range count {
		part := share{zone: zones[i], minimum: divide(pool.Minimum, count, i), maximum: divide(pool.Maximum, count, i)}
		if settings := pool.MachineControllerManagerSettings; settings != nil {
			part.preserved = divide(ptr.Deref(settings.AutoPreserveFailedMachineMax, 0), count, i)
		}
		var err error
		if part.maxSurge, err = divideIntOrPercent(pool.MaxSurge, pool.Maximum, count, i); err != nil {
			return nil, fmt.Errorf("maxSurge of pool %q: %w", pool.Name, err)
		}
		if part.maxUnavailable, err = divideIntOrPercent(pool.MaxUnavailable, pool.Minimum, count, i); err != nil {
			return nil, fmt.Errorf("maxUnavailable of pool %q: %w", pool.Name, err)
		}
		shares = append(shares, part)
	}
	return shares, nil
}

// divide gives the first zones one more until the remainder is used up.
func divide(total, zones, index int32) int32 {
	if index < total%zones {
		return total/zones + 1
	}
	return total / zones
}

// divideIntOrPercent divides numbers like machines. A percentage is kept if the total is divisible by the number of zones; otherwise it is
// scaled with the share of the zone.
func divideIntOrPercent(value intstr.IntOrString, total, zones, index int32) (intstr.IntOrString, error) {
	if value.Type == intstr.Int {
		return intstr.FromInt32(divide(value.IntVal, zones, index)), nil
	}
	var percent float64
	if _, err := fmt.Sscanf(value.StrVal, "%f%%", &percent); err != nil {
		return value, fmt.Errorf("%q is not a percentage", value.StrVal)
	}
	if total%zones == 0 {
		return value, nil
	}
	own := float64(divide(total, zones, index))
	even := float64(total) / float64(zones)
	return intstr.FromString(fmt.Sprintf("%d%%", int(math.Ceil(percent*own/even)))), nil
}
