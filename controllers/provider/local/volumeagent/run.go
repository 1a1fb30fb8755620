// SPDX-License-Identifier: Apache-2.0

package volumeagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	// program is the name of the process.
	program = "volume-agent"
	// resync is how often everything is looked at without an event.
	resync = time.Minute
)

// Run parses args as flags and serves the claims of the shoot, as the service account of the pod, until ctx ends. It logs to standard error.
func Run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet(program, pflag.ContinueOnError)
	dir := flags.String("dir", machine.VolumesDir, "folder of the volumes")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("%s: %w", program, err)
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("find the shoot: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	return Serve(ctx, client, *dir, logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
}

// Serve serves the claims of a shoot until ctx ends.
func Serve(ctx context.Context, client kubernetes.Interface, dir string, log logr.Logger) error {
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder := events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program})

	factory := informers.NewSharedInformerFactory(client, resync)
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	for _, informer := range []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		if err := watch(informer, queue); err != nil {
			return err
		}
	}
	defer factory.Shutdown()
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), claims.Informer().HasSynced, volumes.Informer().HasSynced) {
		return nil // stopped before it started
	}
	r := &Reconciler{
		Client: client, Claims: claims.Lister(), Volumes: volumes.Lister(), Dir: dir,
		Event: func(claim *corev1.PersistentVolumeClaim, kind, reason, message string) {
			recorder.Event(claim, kind, reason, message)
		},
	}
	log.Info("Serving volumes", "dir", dir)
	work(ctx, queue, r, log)
	return nil
}

// watch asks for a pass when an object changes.
func watch(informer cache.SharedIndexInformer, queue workqueue.TypedRateLimitingInterface[string]) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { queue.Add(program) },
		UpdateFunc: func(any, any) { queue.Add(program) },
		DeleteFunc: func(any) { queue.Add(program) },
	})
	if err != nil {
		return fmt.Errorf("watch claims and volumes: %w", err)
	}
	return nil
}

// work makes one pass for any number of events, and repeats one that failed after a growing while.
func work(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string], r *Reconciler, log logr.Logger) {
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	for {
		item, shutdown := queue.Get()
		if shutdown {
			return
		}
		if err := r.Reconcile(ctx); err != nil {
			log.Error(err, "Volumes are not as wanted, trying again")
			queue.AddRateLimited(item)
		} else {
			queue.Forget(item)
		}
		queue.Done(item)
	}
}
