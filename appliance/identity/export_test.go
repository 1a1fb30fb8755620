// SPDX-License-Identifier: Apache-2.0

package identity

// GrowthFor is Growth for a version that encrypts other resources.
func (s *Sharing) GrowthFor(published Generation, resources []string) (*Sealed, error) {
	return s.growth(published, resources)
}

// GrowFor is Grow for a version that encrypts other resources.
func (s *Sharing) GrowFor(resources []string) error { return s.grow(resources) }
