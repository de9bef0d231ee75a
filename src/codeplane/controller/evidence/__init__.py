"""What a plan rests on: what a run has read, citations of it, and how many sources a change needs."""

from codeplane.controller.evidence.citation import Citation, CitationKind
from codeplane.controller.evidence.policy import EvidencePolicy
from codeplane.controller.evidence.record import Category, EvidenceRecord
from codeplane.controller.evidence.store import EvidenceStore

__all__ = ["Category", "Citation", "CitationKind", "EvidencePolicy", "EvidenceRecord", "EvidenceStore"]
