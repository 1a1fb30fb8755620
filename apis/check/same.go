// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"encoding/json"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// Same reports whether two values mean the same: an empty list equals an absent one, and raw JSON is compared by its
// content, because server-side apply writes its fields in another order (API-STRAT-2).
func Same(a, b any) bool {
	if Equal(a, b) {
		return true
	}
	meaning := apiequality.Semantic.Copy()
	err := meaning.AddFuncs(
		func(a, b runtime.RawExtension) bool { return sameJSON(a.Raw, b.Raw) },
		func(a, b apiextensionsv1.JSON) bool { return sameJSON(a.Raw, b.Raw) },
	)
	return err == nil && meaning.DeepEqual(a, b)
}

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	one, fine := content(a)
	other, alsoFine := content(b)
	return fine && alsoFine && reflect.DeepEqual(one, other)
}

// content decodes JSON and keeps its numbers as they are written; empty data equals null.
func content(data []byte) (any, bool) {
	if len(data) == 0 {
		return nil, true
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	err := decoder.Decode(&out)
	return out, err == nil
}
