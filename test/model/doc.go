// Package model says what a lock service with fences may do, as sequential models
// for porcupine: is there an order of the operations, each at one moment between
// its call and its return, in which every answer is right?
//
// It knows nothing of clients, faults or files: a history is a slice of [Op].
//
// # The fenced mutex
//
// The state is the highest token granted so far. A grant is right if its token is
// higher. One lock is one history. See [Mutex].
//
// # The fenced register
//
// The state is the fence (the highest token admitted) and the identity that was
// written last. Reads and writes bear a token, which is admitted if it is not below
// the fence, and raises it: a read too, for whoever has read must not be
// overwritten by somebody older. A read shows the identity. One guard and key is
// one history. See [Register].
//
// # The append-list
//
// The same with a list of items. An append names the item that it goes behind, as
// its writer has read it: behind any other, an update would be lost. A read
// shows all items, in order. See [List].
//
// # Outcomes
//
// An operation of unknown outcome may have been done or not, at any moment from its
// call to its return, which may be never, but only while its token is not below
// the fence. A refused one has no effect; it is right to refuse a token below the
// fence, or any token whose claim is gone.
//
// # Long histories
//
// Porcupine's memory grows with the square of a history's length. So a history is cut
// where its state is certain: behind an admitted operation that overlapped with no
// other and says what the state is. An unknown operation ends, at the latest, when
// a higher token is admitted: it cannot have had an effect later. Both are exact:
// a cut history is right if and only if the whole is.
package model
