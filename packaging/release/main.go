// SPDX-License-Identifier: Apache-2.0

// Command release makes the parts of a release that no common tool makes: the container image and the bill of materials. Its output
// depends on its input alone.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:forbidigo // The end of a script.
	}
}

// input is what a release is made from.
type input struct {
	program, version, out string
	created               time.Time
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: release image|sbom -program FILE -version VERSION -epoch SECONDS -out PATH")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	var in input
	flags.StringVar(&in.program, "program", "", "the static program")
	flags.StringVar(&in.version, "version", "", "the version of the release")
	flags.StringVar(&in.out, "out", "", "the file or folder to write")
	epoch := flags.Int64("epoch", 0, "the time of the release in seconds since 1970")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	in.created = time.Unix(*epoch, 0).UTC()
	switch args[0] {
	case "image":
		return writeImage(in)
	case "sbom":
		return writeSBOM(in)
	}
	return fmt.Errorf("unknown part %q", args[0])
}
