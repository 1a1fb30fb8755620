// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of the Garden and of its status.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	only := &single{list: main.List}
	main.BeginCreate = only.begin
	return map[string]rest.Storage{"gardens": main, "gardens/status": status}, nil
}

// single allows only one Garden. It handles one create request at a time (OPER-API-1, OPER-WH-2).
type single struct {
	list func(context.Context, *metainternalversion.ListOptions) (runtime.Object, error)
	turn sync.Mutex
}

func (s *single) begin(ctx context.Context, _ runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	s.turn.Lock()
	if err := s.free(ctx); err != nil {
		s.turn.Unlock()
		return nil, err
	}
	return func(context.Context, bool) { s.turn.Unlock() }, nil
}

func (s *single) free(ctx context.Context) error {
	found, err := s.list(ctx, &metainternalversion.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Gardens: %w", err)
	}
	list, ok := found.(*gardenoperatorv1alpha1.GardenList)
	if !ok {
		return fmt.Errorf("list Gardens: %T is not a GardenList", found)
	}
	if len(list.Items) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Garden %q already exists, and there can be only one", list.Items[0].Name))
	}
	return nil
}
