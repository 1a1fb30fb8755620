// SPDX-License-Identifier: Apache-2.0

package identity

// GrowthFor is Growth for a version that encrypts other resources.
func (g *Garden) GrowthFor(published Generation, resources []string) (*Sealed, error) {
	return g.growth(published, resources)
}

// GrowFor is Grow for a version that encrypts other resources.
func (g *Garden) GrowFor(resources []string) error { return g.grow(resources) }
