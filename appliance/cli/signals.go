// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilSignal returns a context that ends when the user or the system asks the process to end: with an interrupt, a termination, or a hangup
// of its terminal. A process that was started to outlive its terminal, such as with nohup, ignores hangups, and goes on to. The function
// that is returned gives up the handling of signals.
//
// After the first signal, an interrupt and a termination have their default effect: they end the process immediately. A hangup never has.
// When a terminal is closed, a process gets one from the shell and one from the system, and the second must not cut short what a command
// does at its end, such as to remove keys.
func UntilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, restore := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	stop := restore
	if !signal.Ignored(syscall.SIGHUP) {
		var forget context.CancelFunc
		ctx, forget = signal.NotifyContext(ctx, syscall.SIGHUP)
		stop = func() { forget(); restore() }
	}
	context.AfterFunc(ctx, restore)
	return ctx, stop
}
