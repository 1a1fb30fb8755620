// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"context"
	"fmt"
)

const (
	// maxExpressions is how many expressions a configuration may have. Each of them takes 65 KiB of memory to compile, even if it is short.
	maxExpressions = 200
	// maxExpression is how long one of them may be, in bytes, because the time to compile it grows with the square of its length. All together
	// may be as long as maxExpressionBytes.
	maxExpression, maxExpressionBytes = 4 << 10, 32 << 10
)

// turn is taken by who compiles expressions. Everybody who may create a shoot can have some compiled, as a dry run, so only one at a time
// may take processor and memory for it.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// compiling calls compile, which compiles the expressions of a configuration, unless there are too many of them. It waits until nobody
// else compiles, and returns an error if ctx ends before.
func (t turn) compiling(ctx context.Context, expressions []string, compile func()) error {
	if len(expressions) > maxExpressions {
		return fmt.Errorf("it has %d expressions, at most %d are allowed", len(expressions), maxExpressions)
	}
	size := 0
	for _, e := range expressions {
		if size += len(e); len(e) > maxExpression {
			return fmt.Errorf("an expression has %d bytes, at most %d are allowed", len(e), maxExpression)
		}
	}
	if size > maxExpressionBytes {
		return fmt.Errorf("its expressions have %d bytes, at most %d are allowed", size, maxExpressionBytes)
	}
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait until others have been checked: %w; try again", ctx.Err())
	}
	defer func() { <-t }()
	compile()
	return nil
}
