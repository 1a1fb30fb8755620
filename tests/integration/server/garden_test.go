// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGarden tries everything that does not need a garden of its own on one.
func TestGarden(t *testing.T) {
	t.Parallel()

	g := harness.Start(t)
	t.Run("Anonymous", anonymous(g))
	t.Run("ReadyzNamesUnits", readyzNamesUnits(g))
	t.Run("FirstObjects", firstObjects(g))
	t.Run("BootstrapToken", bootstrapToken(g))
	t.Run("NewTokens", newTokens(g))
	t.Run("SeedCertificate", seedCertificate(g))
	t.Run("ServiceAccountToken", serviceAccountToken(g))
	t.Run("ServerSideApply", serverSideApply(g))
	t.Run("OpenAPI", openAPI(g))
	t.Run("PreferProtobuf", preferProtobuf(g))
	t.Run("Protobuf", protobuf(g))
	t.Run("Encodings", encodings(g))
	t.Run("CustomResources", customResources(g))
	t.Run("Discovery", discovery(g))
	t.Run("Loops", loops(g))
	t.Run("Quota", quota(g))
	t.Run("CheapBodies", cheapBodies(g))
	t.Run("GraphIsOff", graphIsOff(g))
	t.Run("BootstrapAgain", bootstrapAgain(g))
}
