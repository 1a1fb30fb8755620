// SPDX-License-Identifier: Apache-2.0

// Hello answers HTTP requests on port 8080 with the name of the host it runs on, so that one sees which
// pod behind a Service answered.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // This is a main function.
	}
}

func serve() error {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("read host name: %w", err)
	}
	server := &http.Server{
		Addr:              ":8080",
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "Hello from %s\n", host)
		}),
	}
	return server.ListenAndServe()
}
