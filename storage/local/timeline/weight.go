// SPDX-License-Identifier: Apache-2.0

package timeline

// frame is what an entry takes in memory without its texts, and item what an element of a list takes without them. Both are rather too much.
const (
	frame = 1 << 10
	item  = 64
)

// Weight returns about how much memory an entry takes. It is quick, so that it can be asked while a request is served.
func Weight(e *Entry) int64 {
	weight := frame + texts(e.Namespace, string(e.UID), string(e.Type), e.User, e.RequestedBy,
		e.Subject.Kind, e.Subject.Namespace, e.Subject.Name, string(e.Subject.UID))
	if r := e.Request; r != nil {
		weight += texts(string(r.Verb)) + texts(r.Fields...) + item*len(r.Fields)
	}
	if o := e.Operation; o != nil {
		weight += texts(string(o.Type), string(o.State), string(o.From), o.Description)
	}
	if c := e.Condition; c != nil {
		weight += texts(string(c.Type), string(c.Status), string(c.From), c.Reason, c.Message)
	}
	for i := range e.LastErrors {
		one := &e.LastErrors[i]
		weight += 2*item + texts(one.Description)
		for _, code := range one.Codes {
			weight += item + len(code)
		}
		if one.TaskID != nil {
			weight += item + len(*one.TaskID)
		}
	}
	if t := e.Task; t != nil {
		weight += texts(t.Flow, t.ID, t.Title, t.Error) + texts(t.After...) + item*len(t.After)
	}

	return int64(weight)
}

// WeightOf returns about how much memory some entries take.
func WeightOf(entries []*Entry) int64 {
	weight := int64(0)
	for _, entry := range entries {
		weight += Weight(entry)
	}

	return weight
}

func texts(all ...string) int {
	size := 0
	for _, text := range all {
		size += len(text)
	}

	return size
}
