import { nouns } from '../picker/choices';
import { Suggested } from '../picker/Picker';

/** The tag that is put on, or taken off. */
export default function TagField({ value, change }: { value: string; change: (value: string) => void }) {
  return <Suggested of={nouns.tag} label="Tag" isBare placeholder="Tag" maxLength={255} value={value} change={change} />;
}
