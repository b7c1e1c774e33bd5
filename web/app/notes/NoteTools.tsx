import { Suspense, useState } from 'react';
import { sendMutation } from '../graph/use';
import { part } from '../shell/part';
import { offerUndo } from '../shell/undo';
import { hides, type Note, remove } from './note';

const NoteForm = part(() => import('./NoteForm'));

/** Changes and deletes a note, where the viewer may. */
export function NoteTools({ of }: { of: Note }) {
  const [changing, setChanging] = useState(false);
  if (!of.isEditable) return null;
  const drop = () => offerUndo({ hides: hides(of.noteId), text: 'The note is deleted.', commit: () => sendMutation(remove, { input: { noteId: of.noteId } }, { keepalive: true }) });
  return (
    <>
      <button type="button" className="quiet" aria-label={`Change the note ${of.text}`} onClick={() => setChanging(true)}>Change</button>{' '}
      <button type="button" className="quiet" aria-label={`Delete the note ${of.text}`} onClick={drop}>Delete</button>
      {changing && <Suspense><NoteForm of={of} close={() => setChanging(false)} /></Suspense>}
    </>
  );
}
