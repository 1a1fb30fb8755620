// SPDX-License-Identifier: Apache-2.0

package shootresourcereservation

import (
	"k8s.io/apimachinery/pkg/api/resource"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	mebi = int64(1) << 20
	gibi = int64(1) << 30
	// maxProcesses is the number of process IDs that is always reserved.
	maxProcesses = 20_000
)

// fixed is the reservation that does not depend on the machine.
func fixed() gardencorev1beta1.KubeletConfigReserved {
	return gardencorev1beta1.KubeletConfigReserved{
		CPU:    resource.NewMilliQuantity(80, resource.DecimalSI),
		Memory: resource.NewQuantity(gibi, resource.BinarySI),
		PID:    processes(),
	}
}

// byFormula returns the reservation for a machine: the larger the machine, the smaller the reserved share.
func byFormula(cpu, memory resource.Quantity) gardencorev1beta1.KubeletConfigReserved {
	return gardencorev1beta1.KubeletConfigReserved{
		CPU:    cpuOf(cpu.MilliValue()),
		Memory: memoryOf(memory.Value()),
		PID:    processes(),
	}
}

func processes() *resource.Quantity { return resource.NewQuantity(maxProcesses, resource.DecimalSI) }

// step says which share of the next width units is reserved, in ten-thousandths.
type step struct{ width, share int64 }

// shareOf adds up the shares of an amount, step by step; rest is the share of the amount beyond the last step.
func shareOf(amount int64, steps []step, rest int64) int64 {
	const whole = 10_000
	sum := int64(0)
	for _, s := range steps {
		part := min(amount, s.width)
		sum += part * s.share
		amount -= part
	}
	return (sum + amount*rest) / whole
}

// cpuOf reserves 60 thousandths of the first core, 10 of the second, 5 of each of the next two and 2.5 of every other one.
func cpuOf(milli int64) *resource.Quantity {
	const core = 1000
	steps := []step{{core, 600}, {core, 100}, {2 * core, 50}}
	return resource.NewMilliQuantity(shareOf(milli, steps, 25), resource.DecimalSI)
}

// memoryOf reserves a fixed amount on small machines, else shares that decrease as the memory grows.
func memoryOf(bytes int64) *resource.Quantity {
	const small = 255
	if bytes < gibi {
		return resource.NewQuantity(small*mebi, resource.BinarySI)
	}
	steps := []step{{4 * gibi, 2500}, {4 * gibi, 2000}, {8 * gibi, 1000}, {112 * gibi, 600}}
	return resource.NewQuantity(shareOf(bytes, steps, 200), resource.BinarySI)
}
