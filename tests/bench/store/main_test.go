// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

func TestMain(m *testing.M) {
	// What Kine logs would stand between the figures.
	kine.RouteLogs(logr.Discard(), "")
	os.Exit(m.Run())
}
