package main

import (
	"slices"
	"strconv"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/types/known/anypb"
)

// whole is the state of the world: each answer has all subscribed resources.
type whole struct {
	plane  *plane
	stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer
	nonces int
	of     map[string]*wholeType
	order  []string
}

type wholeType struct {
	names   []string
	version string
	nonce   string
}

func newWhole(plane *plane, stream discovery.AggregatedDiscoveryService_StreamAggregatedResourcesServer) *whole {
	return &whole{plane: plane, stream: stream, of: map[string]*wholeType{}}
}

func (w *whole) answer(proxy string, asked question) error {
	request, _ := asked.own.(*discovery.DiscoveryRequest)
	known := w.of[asked.typeURL]
	if known == nil {
		known = &wholeType{}
		w.of[asked.typeURL] = known
		w.order = append(w.order, asked.typeURL)
	} else if asked.nonce != known.nonce || slices.Equal(request.ResourceNames, known.names) {
		return nil
	}
	known.names = request.ResourceNames
	return w.send(proxy, asked.typeURL)
}

func (w *whole) refresh(proxy string) error {
	for _, typeURL := range w.order {
		if _, version := w.chosen(proxy, typeURL); version != w.of[typeURL].version {
			if err := w.send(proxy, typeURL); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *whole) chosen(proxy, typeURL string) ([]*anypb.Any, string) {
	names := w.of[typeURL].names
	var messages []*anypb.Any
	version := ""
	for _, name := range sortedNames(w.plane.store.get(proxy, typeURL)) {
		if each := w.plane.store.get(proxy, typeURL)[name]; len(names) == 0 || slices.Contains(names, name) || slices.Contains(names, "*") {
			messages = append(messages, each.message)
			version += each.version
		}
	}
	return messages, version
}

func (w *whole) send(proxy, typeURL string) error {
	w.plane.wait(w.stream.Context(), typeURL)
	known := w.of[typeURL]
	messages, version := w.chosen(proxy, typeURL)
	w.nonces++
	known.version, known.nonce = version, strconv.Itoa(w.nonces)
	return w.stream.Send(&discovery.DiscoveryResponse{
		VersionInfo: version, Resources: messages, TypeUrl: typeURL, Nonce: known.nonce,
	})
}
