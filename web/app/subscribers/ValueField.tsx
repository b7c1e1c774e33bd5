import { nouns } from '../picker/choices';
import { Pick, Suggested } from '../picker/Picker';

interface Props {
  noun: keyof typeof nouns;
  value: string;
  change: (value: string) => void;
  fault: string | null;
}

/** What a field is compared with: one of the groups, or a text, which may be a part of a name. */
export default function ValueField({ noun, ...field }: Props) {
  return noun === 'group' ? <Pick of={nouns.group} label="Value" {...field} /> : <Suggested of={nouns[noun]} label="Value" {...field} />;
}
