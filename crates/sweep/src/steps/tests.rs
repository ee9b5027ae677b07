//! Made programs, of which is known what repeats.
