// SPDX-License-Identifier: Apache-2.0

package webhooks

import "context"

// Enter counts a request of a shoot, and returns the status with which it is refused; 0 if it is let in.
func (d *Door) Enter(ctx context.Context, namespace string, length int64) (leave func(), status int) {
	leave, refused := d.enter(ctx, namespace, length)
	if refused != nil {
		return nil, refused.status
	}
	return leave, 0
}
