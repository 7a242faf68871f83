package main

import (
	"maps"
	"slices"
	"strconv"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// delta sends only changes.
type delta struct {
	plane  *plane
	stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer
	nonces int
	of     map[string]*deltaType
	order  []string
}

type deltaType struct {
	isWildcard bool
	names      map[string]bool
	// held are the client's versions.
	held map[string]string
}

func newDelta(plane *plane, stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) *delta {
	return &delta{plane: plane, stream: stream, of: map[string]*deltaType{}}
}

func (d *delta) answer(proxy string, asked question) error {
	request, _ := asked.own.(*discovery.DeltaDiscoveryRequest)
	known := d.of[asked.typeURL]
	isFirst := known == nil
	if isFirst {
		known = &deltaType{names: map[string]bool{}, held: map[string]string{}}
		known.isWildcard = len(request.ResourceNamesSubscribe) == 0
		maps.Copy(known.held, request.InitialResourceVersions)
		d.of[asked.typeURL] = known
		d.order = append(d.order, asked.typeURL)
	}
	for _, name := range request.ResourceNamesSubscribe {
		if name == "*" {
			known.isWildcard = true
		} else {
			known.names[name] = true
			// A new subscription always gets an answer.
			delete(known.held, name)
		}
	}
	for _, name := range request.ResourceNamesUnsubscribe {
		delete(known.names, name)
		delete(known.held, name)
	}
	if !isFirst && len(request.ResourceNamesSubscribe) == 0 {
		return nil
	}
	return d.send(proxy, asked.typeURL, isFirst)
}

func (d *delta) refresh(proxy string) error {
	for _, typeURL := range d.order {
		if err := d.send(proxy, typeURL, false); err != nil {
			return err
		}
	}
	return nil
}

// send sends new and changed resources. It sends an empty answer only if one is due.
func (d *delta) send(proxy, typeURL string, isDue bool) error {
	d.plane.wait(d.stream.Context(), typeURL)
	known := d.of[typeURL]
	present := d.plane.store.get(proxy, typeURL)
	answer := &discovery.DeltaDiscoveryResponse{TypeUrl: typeURL}
	for _, name := range sortedNames(present) {
		each := present[name]
		if (known.isWildcard || known.names[name]) && known.held[name] != each.version {
			known.held[name] = each.version
			answer.Resources = append(answer.Resources, &discovery.Resource{Name: name, Version: each.version, Resource: each.message})
		}
	}
	for name := range known.held {
		if _, is := present[name]; !is {
			delete(known.held, name)
			answer.RemovedResources = append(answer.RemovedResources, name)
		}
	}
	if !isDue && len(answer.Resources)+len(answer.RemovedResources) == 0 {
		return nil
	}
	d.nonces++
	answer.Nonce = strconv.Itoa(d.nonces)
	answer.SystemVersionInfo = answer.Nonce
	return d.stream.Send(answer)
}

func sortedNames(of map[string]resource) []string {
	return slices.Sorted(maps.Keys(of))
}
