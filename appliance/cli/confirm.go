// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"strings"
)

// confirmed asks whether to go on after a sentence that says what happens. Only the whole word is a yes; the end of the input is a no.
func (e Environment) confirmed(ctx context.Context, sentence string) (bool, error) {
	e.tell("%s Type yes to go on: ", sentence)
	// A read of the standard input cannot be interrupted: if ctx ends, it ends with the process.
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(e.In).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		e.tell("\n")
		return false, ctx.Err()
	case line := <-answer:
		if line != "yes" {
			e.tell("\n")
		}
		return line == "yes", nil
	}
}
