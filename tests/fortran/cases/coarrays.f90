! Coarrays, teams, events, locks.
program images
   use iso_fortran_env, only: team_type, event_type, lock_type
   implicit none
   integer, save :: a(3)[*], c[2, 0:*]
   integer, codimension[:], allocatable :: d(:)
   type(event_type) :: e[*]
   type(lock_type) :: lock[*]
   type(team_type) :: t
   integer :: i, status
   logical :: got
   character(80) :: message
   a(1)[2] = a(2)[this_image()] + c[1, 1]
   allocate (d(3)[2:*], stat=status, errmsg=message)
   sync all
   sync all (stat=status)
   sync images (*)
   sync images ([1, 2], stat=status)
   sync memory
   lock (lock[1], acquired_lock=got)
   unlock (lock[1])
   event post (e[2], stat=i)
   event wait (e, until_count=3)
   form team (1, t)
   change team (t)
      i = team_number()
   end team
   critical
      c = c + 1
   end critical
   if (i > 3) fail image
   error stop 'bad', quiet=.false.
   stop 3
end program
