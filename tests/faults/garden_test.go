// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

const (
	writers = 1000
	// clients share the writers, as a connection carries a few hundred requests at once.
	clients   = 10
	namespace = "default"
)

// garden is a server process on a data directory.
type garden struct {
	command *exec.Cmd
	config  *rest.Config
	clients []client.WithWatch
}

func start(t *testing.T, dir string, environment ...string) *garden {
	t.Helper()
	g := &garden{command: exec.Command(os.Args[0])} //nolint:noctx // It is ended by signals.
	g.command.Env = append(append(os.Environ(), childDataDir+"="+dir), environment...)
	g.command.Stderr = os.Stderr
	output, err := g.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.kill)
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatalf("the server ended before it was ready: %v", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandlerWithContext = -1, rest.NoWarnings{}
	g.config = config
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for range clients {
		one := rest.CopyConfig(config)
		// A dialer of its own keeps client-go from sharing the connection.
		one.Dial = dialer()
		c, err := client.NewWithWatch(one, client.Options{Scheme: kinds})
		if err != nil {
			t.Fatal(err)
		}
		g.clients = append(g.clients, c)
	}

	return g
}

// kill ends the process in the way of a machine that loses its memory. Killing it again does nothing.
func (g *garden) kill() {
	if g.command.ProcessState == nil {
		_ = g.command.Process.Signal(syscall.SIGKILL)
		_ = g.command.Wait()
	}
}

// of is the client of a writer.
func (g *garden) of(writer int) client.Client { return g.clients[writer%clients] }

// note is a small object with a number in it.
func note(name, number string) *gardencorev1beta1.InternalSecret {
	return &gardencorev1beta1.InternalSecret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"number": []byte(number)},
	}
}

// notes reads all of them, by name.
func (g *garden) notes(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	list := &gardencorev1beta1.InternalSecretList{}
	if err := g.clients[0].List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatalf("list: %v", err)
	}
	found := map[string]string{}
	for i := range list.Items {
		found[list.Items[i].Name] = string(list.Items[i].Data["number"])
	}

	return found
}
