// The fields of Picker for places that show one only when it is asked for. They are loaded then.
import { part } from '../shell/part';

export const Pick = part(async () => ({ default: (await import('./Picker')).Pick }));
export const Suggested = part(async () => ({ default: (await import('./Picker')).Suggested }));
