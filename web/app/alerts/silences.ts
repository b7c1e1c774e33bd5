/** What a silence can be for. */
export type Place =
  | { kind: 'subscriber'; name: string; physicalId: string; groupId?: number; tags?: readonly string[] }
  | { kind: 'group'; name: string; groupId: number }
  | { kind: 'alert'; name: string; alertId: number }
  | { kind: 'all'; name: string };

export interface Lists {
  alertIds: readonly number[];
  groupIds: readonly number[];
  tagNames: readonly string[];
  physicalIds: readonly string[];
}

/** The scope of a silence for a place. */
export function scopeOfPlace(place: Place) {
  switch (place.kind) {
    case 'subscriber': return { physicalIds: [place.physicalId] };
    case 'group': return { groupIds: [place.groupId] };
    case 'alert': return { alertIds: [place.alertId] };
    case 'all': return { all: true };
  }
}

/** Whether a silence silences all that fires at a place, a part of it, or nothing. An alert must fit all lists of a silence that are not empty. */
export function covers({ alertIds, groupIds, tagNames, physicalIds }: Lists, place: Place): 'all' | 'part' | 'nothing' {
  const others = (...lists: (readonly unknown[])[]) => lists.some((list) => list.length > 0);
  const named = <T>(list: readonly T[], one: T, rest: boolean) => (list.length === 0 ? (rest ? 'nothing' : 'all') : !list.includes(one) ? 'nothing' : rest ? 'part' : 'all');
  switch (place.kind) {
    case 'subscriber': {
      if (others(physicalIds) && !physicalIds.includes(place.physicalId)) return 'nothing';
      if (others(groupIds) && (place.groupId === undefined || !groupIds.includes(place.groupId))) return 'nothing';
      if (others(tagNames) && !place.tags?.some((tag) => tagNames.includes(tag))) return 'nothing';
      return others(alertIds) ? 'part' : 'all';
    }
    case 'group': return named(groupIds, place.groupId, others(alertIds, tagNames, physicalIds));
    case 'alert': return named(alertIds, place.alertId, others(groupIds, tagNames, physicalIds));
    case 'all': return others(alertIds, groupIds, tagNames, physicalIds) ? 'nothing' : 'all';
  }
}
