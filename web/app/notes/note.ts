// Notes that are pinned to a moment: what the page reads and sends.
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import type { query } from './Annotations';

export const note = graphql('fragment Note on Note { noteId version text startsAt endsAt groupId physicalId isEditable owner }');

export const one = graphql('query NoteNow($noteId: String!) { note(by: {noteId: $noteId}) { ...Note } }', [note]);

export const list = graphql(`
  query Notes($first: Int, $after: String, $count: Boolean!) {
    notes(first: $first, after: $after) { nodes { ...Note } totalCount @include(if: $count) pageInfo { endCursor hasNextPage } }
  }
`, [note]);

export const create = graphql('mutation CreateNote($input: CreateNoteInput!) { createNote(input: $input) { note { noteId } } }');
export const edit = graphql('mutation EditNote($input: EditNoteInput!) { editNote(input: $input) { note { noteId } } }');
export const remove = graphql('mutation DeleteNote($input: DeleteNoteInput!) { deleteNote(input: $input) { note { noteId } } }');

export type Note = NonNullable<ResultOf<typeof one>['note']>;
type Filter = VariablesOf<typeof query>['notes'];

/** What a chart is about: a subscriber, in a group; a group; or the company, where both are missing. */
export interface About {
  physicalId?: string | null;
  groupId?: number | null;
}

/** The notes of a chart: those of its span, about what it shows and what that is a part of. A chart of the company has those of the groups, too. */
export function ofChart({ physicalId, groupId }: About, from: string, to: string): Filter {
  const company: Filter = { groupId: { eq: null }, physicalId: { eq: null } };
  const about: Filter[] = [company];
  if (groupId != null) about.push({ groupId: { eq: String(groupId) } });
  if (physicalId != null) about.push({ physicalId: { eq: physicalId } });
  return {
    startsAt: { lt: to },
    and: [
      { or: [{ startsAt: { ge: from } }, { endsAt: { gt: from } }] },
      physicalId == null && groupId == null ? { physicalId: { eq: null } } : { or: about },
    ],
  };
}

export const hides = (noteId: string) => `note/${noteId}`;
