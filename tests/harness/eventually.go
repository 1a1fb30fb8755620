// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Patience is how long Eventually waits: longer than the minute after which many controllers look again, and than the minute that one
	// request to a registry may take, so that a machine with much to do fails no test that would pass a moment later.
	Patience = 2 * time.Minute

	interval = 20 * time.Millisecond
)

// Eventually calls check until it returns no error, and fails the test with the last one if that does not happen within
// Patience. what says what is waited for.
func Eventually(tb testing.TB, what string, check func(ctx context.Context) error) {
	tb.Helper()
	Within(tb, Patience, what, check)
}

// Within is Eventually with a limit of its own.
func Within(tb testing.TB, limit time.Duration, what string, check func(ctx context.Context) error) {
	tb.Helper()
	var last error
	err := wait.PollUntilContextTimeout(tb.Context(), interval, limit, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// A check that was cut off by the limit says less than the one before.
		if last == nil || !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}

		return err == nil, nil
	})
	if err != nil {
		text := fmt.Sprintf("%s: not within %s: %v", what, limit, last)
		unmet.add(tb.Name(), text)
		tb.Fatal(text)
	}
}

// unmet has the last thing that was waited for in vain, by the name of the test, which is all that a wait and a garden have in common.
var unmet verdicts

type verdicts struct{ texts sync.Map }

func (v *verdicts) add(test, text string) { v.texts.Store(root(test), text) }

// forget forgets what an earlier run of a test has waited for.
func (v *verdicts) forget(test string) { v.texts.Delete(root(test)) }

// repeat logs it once more, after the log of a garden, which may have thousands of lines. A test may have several gardens.
func (v *verdicts) repeat(tb testing.TB) {
	tb.Helper()
	if text, found := v.texts.Load(root(tb.Name())); found {
		tb.Logf("what failed: %s", text)
	}
}

// root is the name of a test without those of subtests, which share its garden.
func root(test string) string {
	name, _, _ := strings.Cut(test, "/")

	return name
}

// Await reads an object until check is content with it, and returns it as it then was.
func Await[T client.Object](tb testing.TB, c client.Reader, object T, what string, check func(T) error) T {
	tb.Helper()
	var found T
	Eventually(tb, what, func(ctx context.Context) error {
		// A field that is gone would survive a read into an object that has it.
		fresh, ok := reflect.TypeAssert[T](reflect.New(reflect.TypeOf(object).Elem()))
		if !ok {
			return fmt.Errorf("%T is no pointer to a struct", object)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), fresh); err != nil {
			return err
		}
		found = fresh

		return check(fresh)
	})

	return found
}
