// SPDX-License-Identifier: Apache-2.0

package shootadmin

// Len is the number of certificates that are kept.
func (i *Issuer) Len() int {
	i.mu.Lock()
	defer i.mu.Unlock()

	return len(i.issued)
}
