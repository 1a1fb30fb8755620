// SPDX-License-Identifier: Apache-2.0

package world

// ClaimedSorts returns for how many sorts there are claims in memory.
func (w *World) ClaimedSorts() int {
	w.claims.mu.Lock()
	defer w.claims.mu.Unlock()

	return len(w.claims.taken)
}
