// SPDX-License-Identifier: Apache-2.0

package kine_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus" //nolint:depguard // Stands for Kine, which logs through it.

	"github.com/terrarium-garden/terrarium/storage/kine"
)

// lines collects what is logged by all tests of this package.
type lines struct {
	mutex sync.Mutex
	all   []string
}

func (l *lines) add(_, line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) with(part string) []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var found []string
	for _, line := range l.all {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}

	return found
}

var logged lines

func TestMain(m *testing.M) {
	kine.RouteLogs(funcr.New(logged.add, funcr.Options{}), "")
	os.Exit(m.Run())
}

func TestRouteLogs(t *testing.T) {
	t.Parallel()

	logrus.WithField("key", "value").Fatal("routed: fatal")
	logrus.Warn("routed: warning")
	logrus.Info("routed: information")

	want := []string{
		`"msg"="Kine logged an error" "error"=null "message"="routed: fatal" "key"="value"`,
		`"level"=0 "msg"="Kine logged a warning" "message"="routed: warning"`,
	}
	if diff := cmp.Diff(want, logged.with("routed:")); diff != "" {
		t.Errorf("A fatal line of Kine is an error of ours and does not end the process; information is for -v 1.\n"+
			"logged lines (-want +got):\n%s", diff)
	}
}
