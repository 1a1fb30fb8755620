// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/clock"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func columns(clk clock.PassiveClock) []kind.Column[*gardenoperationsv1alpha1.Bastion] {
	return []kind.Column[*gardenoperationsv1alpha1.Bastion]{
		{Name: "Shoot", Cell: func(o *gardenoperationsv1alpha1.Bastion) string { return o.Spec.ShootRef.Name }},
		{Name: "Seed", Cell: func(o *gardenoperationsv1alpha1.Bastion) string { return cell.Or(o.Spec.SeedName, cell.Pending) }},
		{Name: "IP", Cell: address},
		{Name: "Heartbeat", Cell: func(o *gardenoperationsv1alpha1.Bastion) string {
			if o.Status.LastHeartbeatTimestamp.IsZero() {
				return "<never>"
			}
			return duration.HumanDuration(clk.Since(o.Status.LastHeartbeatTimestamp.Time)) + " ago"
		}},
		{Name: "Expires", Cell: func(o *gardenoperationsv1alpha1.Bastion) string {
			if o.Status.ExpirationTimestamp.IsZero() {
				return cell.Pending
			}
			left := o.Status.ExpirationTimestamp.Sub(clk.Now())
			if left <= 0 {
				return "<expired>"
			}
			return duration.HumanDuration(left)
		}},
	}
}

// address returns the address of the bastion: its host name if it has one.
func address(o *gardenoperationsv1alpha1.Bastion) string {
	switch i := o.Status.Ingress; {
	case i == nil:
		return cell.Pending
	case i.Hostname != "":
		return i.Hostname
	case i.IP != "":
		return i.IP
	default:
		return cell.Pending
	}
}
