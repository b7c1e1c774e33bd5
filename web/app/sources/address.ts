import { useQuery } from '@tanstack/react-query';
import { readOffer } from '../graph/offer';
import { answers } from '../graph/use';

export interface Address {
  /** Where the server is reached, such as https://sim.example. */
  base: string;
  /** Whether the server is configured with it; else it is where this page came from. */
  isStated: boolean;
}

/** Where carriers and programs reach the server; undefined until that is known. */
export function useAddress(): Address | undefined {
  const { data, error } = useQuery(
    {
      queryKey: ['/page.json'],
      staleTime: Infinity,
      queryFn: async ({ signal }): Promise<Address> => {
        const { publicUrl } = await readOffer(signal);
        return { base: publicUrl ?? location.origin, isStated: publicUrl !== undefined };
      },
    },
    answers,
  );
  return error ? { base: location.origin, isStated: false } : data;
}
