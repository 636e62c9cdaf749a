"""One cache for all tenants, of which each sees its own: equal content has equal state roots."""

from __future__ import annotations

from dataclasses import dataclass

from foveate.ports import Cache, CacheStats


@dataclass(frozen=True, slots=True)
class TenantCache:
    """A tenant's part of a cache. Tenants' names hold no colon, so that no two parts meet."""

    cache: Cache
    tenant: str

    def get(self, key: str) -> bytes | None:
        """What this tenant put under the key."""
        return self.cache.get(self._tenant_key(key))

    def put(self, key: str, value: bytes) -> None:
        """Keep it for this tenant."""
        self.cache.put(self._tenant_key(key), value)

    def stats(self) -> CacheStats:
        """Of all tenants together: what one of them does is nobody else's to know."""
        return self.cache.stats()

    def close(self) -> None:
        """Leave it open, for the others."""

    def _tenant_key(self, key: str) -> str:
        return f"{self.tenant}:{key}"
